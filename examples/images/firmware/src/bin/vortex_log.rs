#![no_std]
#![no_main]

firmware::image!(entries::vortex_log::write);
