import AlcedoLibc

extension SystemMemory {
    /// Gives the system back what the process has freed. The system's library keeps freed memory for itself, up to some
    /// sixty megabytes in one piece, and all that lies below something in use. Takes milliseconds.
    static func giveBackFree() {
        // `malloc.h` is not part of the module, and not every library has the function.
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        let trim = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)
        _ = trim(0)
    }
}
