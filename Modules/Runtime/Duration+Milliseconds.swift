extension Duration {
    /// The whole milliseconds, rounded towards zero and clamped to the range of `Int`.
    package var milliseconds: Int {
        let (seconds, attoseconds) = components
        let whole = Int(clamping: seconds).multipliedReportingOverflow(by: 1000)
        guard !whole.overflow else { return seconds < 0 ? .min : .max }
        return whole.partialValue &+ Int(attoseconds / 1_000_000_000_000_000)
    }
}
