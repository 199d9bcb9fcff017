import AlcedoCore

/// What is stored for a resource, as far as one request can use it.
struct StoredCandidate: Sendable {
    /// The newest answer that was stored for such a request.
    var response: StoredResponse?
    /// Where it is, when it is there.
    var key: ImageKey
    /// Tags of answers to other requests for the resource, the newest first.
    var otherTags: [ResponseVariants.Tagged] = []
    /// Whether something is stored for other requests.
    var hasVariants = false
}
