"""Keys and the actions behind them."""
