import AlcedoCore
import FoundationEssentials

/// What may be stored. Source: RFC 9111 section 3, of which this cache uses the part that is sure.
enum StorageRules {
    /// Whether the answer may be stored, and could be of use.
    static func allow(_ head: HTTPResponseHead, to request: HTTPRequest, receivedAt: Date) -> Bool {
        let control = CacheControl(head.fields)
        guard RequestRules(request).bypass == nil, head.status == 200, head.fields["Content-Range"] == nil,
            !control.forbidsStoring, head.fields["Set-Cookie"] == nil, Variants.varyingNames(of: head) != nil
        else { return false }
        if request.hasCredentials {
            // Section 3.5.
            guard ["public", "must-revalidate", "s-maxage"].contains(where: control.contains) else { return false }
        }
        if !Validation.condition(for: head, receivedAt: receivedAt).fields.isEmpty { return true }
        let lifetime = Freshness.lifetime(of: head, receivedAt: receivedAt) ?? 0
        return lifetime > 0 && !demandsValidation(head.fields)
    }

    /// Whether the answer is never used without asking. A `Pragma` has no meaning in an answer, but who sends it
    /// means this.
    static func demandsValidation(_ fields: HTTPFields) -> Bool {
        let control = CacheControl(fields)
        return control.contains("no-cache") || (control.isEmpty && fields.list("Pragma", contains: "no-cache"))
    }
}
