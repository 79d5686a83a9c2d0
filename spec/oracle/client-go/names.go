package main

func names(string) {}
