import Alcedo
import Foundation
@testable import FuzzServer

/// The entry point that libFuzzer calls with every input: bytes that a client sends to the server.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: bytes, count: count))
    let whole = Exchange(bytes, pieceSize: .max)
    require(Exchange(bytes, pieceSize: 1) == whole, "bytes in pieces are read otherwise")
    require(Exchange(bytes, pieceSize: 13) == whole, "bytes in pieces are read otherwise")
    whole.heads.forEach(respond)
    return 0
}

/// What the server reads from the bytes of a connection: heads, and the status of the error that ends it.
private struct Exchange: Equatable {
    private(set) var heads: [RequestHead] = []
    private var status: Int?

    init(_ bytes: [UInt8], pieceSize: Int) {
        var received = ReceivedHeads()
        var rest = bytes[...]
        do throws(HTTPError) {
            while !rest.isEmpty {
                let piece = rest.prefix(min(pieceSize, received.space))
                piece.withUnsafeBytes { received.append($0) }
                rest = rest.dropFirst(piece.count)
                while let head = try received.next() { heads.append(head) }
            }
        } catch {
            status = error.status
        }
    }

    static func == (a: Exchange, b: Exchange) -> Bool {
        a.status == b.status && a.heads.count == b.heads.count
            && zip(a.heads, b.heads).allSatisfy { "\($0)" == "\($1)" }
    }
}

private let signature = URLSignature(key: Array("0123456789abcdef".utf8))

/// Reads the parameters of a request as the server does.
private func respond(to head: RequestHead) {
    require(head.target.hasPrefix("/") && head.target.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a bad target")
    require(!head.method.isEmpty && head.method.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a bad method")
    for value in [head.accept, head.ifNoneMatch] {
        require(value?.utf8.contains { $0 < 0x20 && $0 != 9 } != true, "a value has a control character")
    }
    guard let items = try? QueryItems(head.query) else { return }
    let query = try? ThumbnailQuery(items, accept: head.accept, maximumSide: 4096)
    if let query { require(["http", "https"].contains(query.source.scheme), "a source has another scheme") }
    _ = try? signature.check(path: head.path, items, now: Date(timeIntervalSince1970: 1e9))
}

private func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    guard !condition else { return }
    fatalError(message())
}
