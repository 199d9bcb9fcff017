/// What a response store keeps under one key.
public enum ResponseEntry: Sendable, Hashable {
    /// An answer.
    case response(StoredResponse)
    /// Under the resource's own key, when its answers vary.
    case variants(ResponseVariants)
}
