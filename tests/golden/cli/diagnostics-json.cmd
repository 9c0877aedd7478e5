check --diagnostics json partial-names.nest
