public import FoundationEssentials

/// What a responder is asked when a server wants a credential.
public struct HTTPAuthenticationQuestion: Sendable, Hashable {
    /// What was asked for. A password that is sent by Basic over `http` can be read on the way.
    public var url: URL
    /// The ways that the server takes.
    public var challenges: [HTTPChallenge]
    /// How many credentials the server has refused for this request.
    public var refusalCount: Int

    /// A question; by default the first about this URL.
    public init(url: URL, challenges: [HTTPChallenge], refusalCount: Int = 0) {
        self.url = url
        self.challenges = challenges
        self.refusalCount = refusalCount
    }
}
