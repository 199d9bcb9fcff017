import ExampleSupport
import FoundationEssentials

/// A target that has been signed, and that the server answers.
struct SignedTarget {
    let text: String

    /// - Throws: `UsageError` for a target that makes no sense, or is never allowed.
    init(_ target: String, _ signature: URLSignature, _ settings: ThumbnailService.Settings) throws {
        let path = "\(ThumbnailQuery.path)?"
        guard target.hasPrefix(path) else { throw UsageError("--sign takes \(path)..., not '\(target)'") }
        do throws(Refusal) {
            guard try QueryItems(target.dropFirst(path.count))[URLSignature.name] == nil else {
                throw Refusal(400, "the target has a signature already")
            }
            text = try signature.signed(target)
            let items = try QueryItems(text.dropFirst(path.count))
            try signature.check(path: ThumbnailQuery.path, items, now: Date())
            let query = try ThumbnailQuery(items, accept: nil, maximumSide: settings.maximumSide)
            try settings.allowed.check(query.source)
        } catch {
            throw UsageError("--sign: \(error.message)")
        }
    }
}
