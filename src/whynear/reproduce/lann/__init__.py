"""Göpfert, Wersing and Hammer: locally adaptive nearest neighbours."""
