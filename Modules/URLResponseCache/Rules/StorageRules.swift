import AlcedoCore
import FoundationEssentials

/// What may be stored. Source: RFC 9111 section 3.
enum StorageRules {
    enum Ruling {
        case store
        /// It may be stored, but could never be used.
        case pointless
        /// Neither this cache nor another may keep it.
        case forbidden
    }

    /// Rules on an answer to GET.
    static func ruling(on head: HTTPResponseHead, to request: HTTPRequest, role: CacheRole) -> Ruling {
        let directives = ResponseDirectives(head.fields, role: role)
        let control = directives.control
        guard !control.isMalformed, !requestForbidsStoring(request) else { return .forbidden }
        // Nobody knows what the content is (RFC 9112 section 6.1).
        guard head.fields.unknownTransferCoding == nil else { return .forbidden }
        if control.contains("must-understand") {
            // Section 5.2.2.3: whoever understands the code ignores the no-store beside it.
            guard StatusRules.isUnderstood(head.status) else { return .forbidden }
        } else if control.contains("no-store") {
            return .forbidden
        }
        if role.isShared {
            if directives.isForOne { return .forbidden }
            if request.hasCredentials, !directives.isForEveryone { return .forbidden }
            // HTTP leaves cookies to the server's care; many servers do not take it.
            let isShareable = control.contains("public") || control.contains("s-maxage")
            if request.fields.contains("Cookie"), !isShareable { return .forbidden }
        }
        guard head.status >= 200, head.status != 304, hasReason(head, directives, role: role) else { return .pointless }
        if head.status == 206 {
            guard let text = head.fields["Content-Range"], ContentRange(text) != nil,
                !head.fields.contains("Content-Encoding"), request.method == .get
            else { return .pointless }
        } else if head.status == 416
            || head.fields.members(of: "Content-Range").contains(where: { ContentRange($0) != nil })
        {
            // The field has no meaning beside another status (RFC 9110 section 14.4), but a server that calls a part of
            // the content the whole must not have it stored as that. A value that names no bytes is a field like
            // others. 416 is about one range alone.
            return .pointless
        }
        return Vary.names(of: head, to: request, role: role) == nil ? .pointless : .store
    }

    /// Whether a body has another form than those for requests that differ only in their range: a transport decodes no
    /// body for a request with a range (``HTTPTransport``).
    static func isLeftCoded(_ head: HTTPResponseHead, to request: HTTPRequest) -> Bool {
        head.fields.contains("Content-Encoding") && request.fields.contains("Range")
            && !request.fields.contains("Accept-Encoding")
    }

    /// Whether an answer to POST may answer a later GET. RFC 9110 section 9.3.3.
    static func mayAnswerGET(_ head: HTTPResponseHead, to request: HTTPRequest, role: CacheRole, now: Date) -> Bool {
        guard request.method == .post, head.status == 200, let location = head.fields["Content-Location"],
            let url = URL(string: location, relativeTo: request.url), ResourceKey(normal: url) == request.resourceKey
        else { return false }
        let directives = ResponseDirectives(head.fields, role: role)
        return directives.explicitLifetime(date: now, receivedAt: now) != nil
    }

    /// RFC 9111 section 5.2.1.5.
    static func requestForbidsStoring(_ request: HTTPRequest) -> Bool {
        guard request.allowsStoring else { return true }
        return request.fields.contains("Cache-Control") && CacheControl(request.fields).forbidsStoring
    }

    /// Whether one of the reasons is there for which an answer may be stored at all. Section 3, last item.
    private static func hasReason(_ head: HTTPResponseHead, _ directives: ResponseDirectives, role: CacheRole) -> Bool {
        let control = directives.control
        return StatusRules.isHeuristicallyCacheable(head.status) || control.contains("public")
            || control.contains("max-age") || (!directives.isTargeted && head.fields.contains("Expires"))
            || (role.isShared ? control.contains("s-maxage") : control.contains("private"))
    }
}
