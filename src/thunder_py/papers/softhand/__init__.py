"""The Thunder article's SoftHand experiment."""
