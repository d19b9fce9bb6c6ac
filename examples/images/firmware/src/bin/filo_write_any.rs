#![no_std]
#![no_main]

firmware::image!(entries::filo_write::any);
