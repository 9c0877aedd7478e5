help eval
