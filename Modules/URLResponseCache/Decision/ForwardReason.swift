/// Why a request goes to the network. The raw values are those of `fwd` in RFC 9211 section 2.2.
enum ForwardReason: String {
    /// The cache does not deal with such requests.
    case bypass
    /// The method is not one that the cache answers.
    case method
    /// Nothing is stored for the URL.
    case uriMiss = "uri-miss"
    /// What is stored is for requests with other fields.
    case varyMiss = "vary-miss"
    /// What is stored may only be used after asking.
    case stale
    /// Not all of what is asked for is stored.
    case partial
    /// The request wants something newer than what is stored.
    case request
}
