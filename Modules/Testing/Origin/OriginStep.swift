import FoundationEssentials

/// One thing that a connection does to send an answer.
enum OriginStep: Equatable {
    case send(Data)
    /// Sends `count` bytes of the endless body, without end when nil.
    case generate(count: Int?, inChunks: Bool)
    /// Waits for a release.
    case stall
    /// Ends the connection at once, by a reset.
    case reset
    /// Ends the connection in order.
    case close
}
