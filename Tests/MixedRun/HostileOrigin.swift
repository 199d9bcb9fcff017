import AlcedoHTTP
import AlcedoTesting
import FoundationEssentials

/// A server that names truthfully what its images vary by, and breaks most other rules from time to time.
struct HostileOrigin: Sendable {
    /// The time at which version 0 of all images began, in seconds since 1970.
    let epoch: Double

    func reply(to request: OriginRequest) -> OriginReply {
        if request.path == "/login" { return Self.loginPage }
        let names = Content.varyingFields(of: request.path).shuffled()
        let vary = names.map { Bool.random() ? $0 : $0.lowercased() }.joined(separator: Bool.random() ? ", " : ",")
        // An image that belongs to the user whom a field names.
        if request.path.hasPrefix("/to/") {
            let token = request.fields["X-Auth-Token"] ?? "none"
            let target = "/plain/\(token)/\(request.path.dropFirst(4))"
            return OriginReply.redirect(to: target, status: [301, 302, 303, 307, 308].randomElement() ?? 302)
                .setting("Vary", "\(vary), X-Auth-Token").setting("Cache-Control", "max-age=60")
        }
        let now = Date().timeIntervalSince1970 - epoch
        let version = Content.version(of: request.path, at: now)
        let file = Content.file(request.path, request.fields, version: version)
        let identity = Content.identity(request.path, request.fields, version: version)
        var fields: HTTPFields = [
            "Vary": vary, "Content-Type": "image/bmp", "ETag": "\"\(identity)\"",
            "Cache-Control": ["max-age=3600", "max-age=2", "no-cache", "max-age=60"].randomElement() ?? "",
        ]
        if Int.random(in: 0..<20) == 0 { fields["Cache-Control"] = "no-store" }
        if Int.random(in: 0..<40) == 0 { fields["Vary"] = "*" }
        let earlyEnd = Content.earlyEnd(request.path, request.fields, version: version, of: file.count)
        if let fault = fault(file, fields, earlyEnd: earlyEnd) { return fault }
        if request.fields.values(of: "If-None-Match").contains(where: { $0.contains(fields["ETag"] ?? "") }) {
            return .status(304, fields: fields)
        }
        if let range = requestedRange(request, fields["ETag"], of: file.count) {
            return Self.part(range, of: file, fields)
        }
        let reply = OriginReply(fields: fields, body: file)
        return Int.random(in: 0..<10) == 0 ? reply.stalling(at: .afterBody(.random(in: 0..<file.count))) : reply
    }

    private static let loginPage = OriginReply(
        fields: ["Content-Type": "text/html", "Cache-Control": "max-age=3600"],
        body: Data("<!DOCTYPE html><title>Log in</title>".utf8))

    /// Returns a fault in one reply of five.
    private func fault(_ file: Data, _ fields: HTTPFields, earlyEnd: Int?) -> OriginReply? {
        let reply = OriginReply(fields: fields, body: file)
        let position = Int.random(in: 0..<file.count)
        switch Int.random(in: 0..<70) {
        case 0: return reply.cutting(at: .afterBody(position))
        case 1: return reply.cutting(at: .afterBody(position), .reset)
        case 2: return reply.framed(.chunked(size: 5000)).cutting(at: .afterBody(position))
        // The end of the body cannot be told from its truncation.
        case 3: return earlyEnd.map { OriginReply(fields: fields, body: Data(file.prefix($0)), framing: .close) }
        case 4: return Self.loginPage
        case 5: return .redirect(to: "/login")
        case 6: return OriginReply(fields: fields)
        case 7: return .status([500, 502, 503].randomElement() ?? 500, fields: ["Retry-After": "0"])
        case 8: return .status(404)
        // Another user's image follows the body on the connection.
        case 9:
            let other = Content.file("/plain/9", ["Cookie": "mallory"], version: 0)
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(other.count)\r\nCache-Control: max-age=3600\r\n\r\n"
            return OriginReply(
                fields: fields.merging(["Content-Length": "\(file.count)"]), body: file + Data(head.utf8) + other)
        // Parts that nobody asked for.
        case 10: return Self.part(0..<file.count, of: file, fields)
        case 11: return Self.part(position / 2..<position / 2 + 10, of: file, fields)
        case 12: return .status(304, fields: fields)
        case 13: return .raw(Data("\n\n".utf8))
        case 14: return reply.setting("Content-Encoding", "aws-chunked")
        default: return nil
        }
    }

    private func requestedRange(_ request: OriginRequest, _ tag: String?, of count: Int) -> Range<Int>? {
        guard let text = request.fields["Range"], text.hasPrefix("bytes="),
            request.fields["If-Range"].map({ $0 == tag }) != false
        else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int(ends[0]), first < count else { return nil }
        return first..<min(count, max(first, Int(ends[1]) ?? count - 1) + 1)
    }

    private static func part(_ range: Range<Int>, of file: Data, _ fields: HTTPFields) -> OriginReply {
        let range = range.clamped(to: 0..<file.count)
        return OriginReply(
            status: 206,
            fields: fields.merging([
                "Content-Range": "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.count)"
            ]),
            body: Data(file[range]))
    }
}

extension HTTPFields {
    fileprivate func merging(_ others: HTTPFields) -> HTTPFields {
        var merged = self
        for field in others { merged[field.name] = field.value }
        return merged
    }
}
