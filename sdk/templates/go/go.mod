module roster

go 1.19

require muster/backend v0.0.0

replace muster/backend => ./muster-backend
