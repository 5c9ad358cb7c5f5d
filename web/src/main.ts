/** The page finds out whether it is frozen, with the data of a study inside, or alive, with a server behind it. */

import "./page.css";
import { openStudio } from "./alive/studio";
import type { PageData } from "./data";
import { showStudy } from "./page";
import { withFurther } from "./rows";

const root = document.getElementById("page");
const island = document.getElementById("data");

if (root && island) showStudy(root, withFurther(JSON.parse(island.textContent ?? "") as PageData));
else if (root) openStudio(root);
