/// The block size of the file systems that tests run on, in bytes.
let block = 4096
