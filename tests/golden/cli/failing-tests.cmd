test failing-tests.nest
