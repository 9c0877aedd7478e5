eval size-not-positive.nest --set size=0
