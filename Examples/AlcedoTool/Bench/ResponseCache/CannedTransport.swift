import AlcedoCore
import Foundation

/// Answers at once what may be kept for a day, with the fields that a content network sends.
struct CannedTransport: HTTPTransport {
    let body: Data
    let vary: String?

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var fields: HTTPFields = [
            "Server": "nginx", "Content-Type": "image/jpeg", "Content-Length": String(body.count),
            "Connection": "keep-alive", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
            "ETag": "\"5f7c2e1a-1000\"", "Cache-Control": "public, max-age=86400, stale-while-revalidate=600",
            "Accept-Ranges": "bytes", "X-Cache": "HIT", "X-Request-Id": "4a1f9c2e7b8d4e6f", "Via": "1.1 varnish",
            "Access-Control-Allow-Origin": "*", "Timing-Allow-Origin": "*", "X-Content-Type-Options": "nosniff",
            "Strict-Transport-Security": "max-age=31536000", "Alt-Svc": "h3=\":443\"; ma=86400",
        ]
        fields["Vary"] = vary
        return HTTPResponse(
            head: HTTPResponseHead(url: request.url, status: 200, fields: fields), body: HTTPBody(body))
    }
}
