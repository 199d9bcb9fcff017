/// One way by which a server lets itself be shown who asks. Source: RFC 9110 section 11.
public struct HTTPChallenge: Sendable, Hashable {
    /// In lower case, such as `basic`, `digest` and `bearer`.
    public var scheme: String
    /// By their names in lower case, without quotes.
    public var parameters: [String: String]

    /// A way; by default without parameters.
    public init(scheme: String, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.parameters = parameters
    }

    /// What the credential is for, in words for people.
    public var realm: String? { parameters["realm"] }
}
