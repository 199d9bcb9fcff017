import AlcedoCore

/// The heads of one answer.
struct ResponseHeads: Sendable {
    var final: HTTPResponseHead
    /// Those that came before, in order.
    var interim: [HTTPResponseHead]
}
