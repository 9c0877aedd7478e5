eval parameter-without-value.nest
