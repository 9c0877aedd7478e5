eval --require-fit --format csv does-not-fit.nest
