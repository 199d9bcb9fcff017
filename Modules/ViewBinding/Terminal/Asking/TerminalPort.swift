/// A terminal that can be asked. Calls block, and come one at a time.
public protocol TerminalPort: Sendable {
    /// Prepares the terminal for an answer, which is not to be shown. False when it cannot be asked.
    func begin() -> Bool
    /// False when the terminal does not take the text.
    func write(_ text: String) -> Bool
    /// What has been typed or answered since the last call, some of it at least; nothing when none came within the time.
    func read(within time: Duration) -> [UInt8]
    /// Makes the terminal what it was before ``begin()``, which has returned true.
    func end()
}
