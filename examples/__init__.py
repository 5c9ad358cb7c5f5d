"""Examples as scripts with cells, and as notebooks made of them by `make examples`."""
