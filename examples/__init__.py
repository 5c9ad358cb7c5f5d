"""Examples as scripts with cells; `make examples` makes notebooks from them."""
