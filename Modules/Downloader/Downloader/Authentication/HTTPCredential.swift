/// What a server is shown so that it answers.
public enum HTTPCredential: Sendable, Hashable {
    /// For the schemes Digest and Basic, the stronger of those that the server takes.
    case password(user: String, password: String)
    /// A token for the scheme Bearer.
    case bearer(String)
}
