private import CHTTPServerShim

extension RequestHead {
    init(_ request: OpaquePointer) {
        self.init(
            method: String(cString: alcedo_http_method(request)),
            target: Self.originForm(String(cString: alcedo_http_target(request))),
            accept: Self.value(of: "Accept", request), ifNoneMatch: Self.value(of: "If-None-Match", request),
            hasBody: alcedo_http_has_body(request) != 0)
    }

    private static func value(of name: String, _ request: OpaquePointer) -> String? {
        var lines: [String] = []
        withUnsafeMutablePointer(to: &lines) { lines in
            alcedo_http_each_value(request, name, lines) { context, value in
                context?.assumingMemoryBound(to: [String].self).pointee.append(String(cString: value))
            }
        }
        return lines.isEmpty ? nil : lines.joined(separator: ", ")
    }
}
