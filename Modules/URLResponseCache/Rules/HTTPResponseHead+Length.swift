import AlcedoCore
import FoundationEssentials

extension HTTPResponseHead {
    /// Whether a body of so many bytes is all that the head announces. Source: RFC 9111 section 3.3, RFC 9110 section
    /// 8.6.
    ///
    /// A length that cannot be read, and several that differ, announce nothing that a body could be. A coding that was
    /// undone on the way leaves no length to compare.
    func announces(_ byteCount: Int) -> Bool {
        guard !fields.contains("Content-Encoding") else { return true }
        return fields.declaredLength == .none || fields.declaredLength == .bytes(byteCount)
    }
}
