from whynear.reproduce import EXPERIMENTS


def test_an_experiment_without_a_drawing_has_rows_and_columns_to_draw():
    plain = [name for name, make in EXPERIMENTS.items() if make().draw is None]
    assert plain == ["lann-table1-fifth", "lann-table1-tenfold"]
    assert all(EXPERIMENTS[name]().plan.published for name in plain)


def test_making_an_experiment_twice_gives_the_same_cells():
    for make in EXPERIMENTS.values():
        assert make().cells == make().cells
