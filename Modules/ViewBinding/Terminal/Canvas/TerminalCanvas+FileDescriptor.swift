import AlcedoLibc

extension TerminalCanvas {
    /// The whole of the terminal that `fileDescriptor` is open on.
    ///
    /// - Returns: nil when it is not a terminal, or one that does not know its size.
    public init?(fileDescriptor: Int32) {
        var size = winsize()
        guard ioctl(fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        self.init(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
