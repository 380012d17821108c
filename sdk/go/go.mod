module muster/backend

go 1.19
