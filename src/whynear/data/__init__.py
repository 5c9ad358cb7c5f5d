"""Tables, data sets and what is read from them."""
