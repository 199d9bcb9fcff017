import Alcedo
import Foundation
@testable import FuzzServer

private let signature = URLSignature(key: Array("0123456789abcdef".utf8))
private let foreign = URLSignature(key: Array("0123456789abcdeF".utf8))
private let now = Date(timeIntervalSince1970: 1e9)

/// The entry point that libFuzzer calls with every input: the target of a request. Its signature must be valid for its
/// parameters, and for no others.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    let target = RequestHead.originForm(input)
    if isValid(target, signature) { fatalError("the key was guessed") }
    guard let signed = try? signature.signed(target) else { return 0 }
    let hasExpired = isExpired(target)
    require(isValid(signed, signature) != hasExpired, "a signature is not valid for its target")
    require(!isValid(signed, foreign), "another key has the same signature")
    require((try? signature.signed(signed)) == signed, "a target that is signed again differs")
    // Each change of the last digit, and each added parameter.
    let last = signed.utf8.last ?? 0
    for digit in "0123456789abcdef".utf8 where digit != last {
        require(!isValid(signed.dropLast() + String(UnicodeScalar(digit)), signature), "a wrong signature is valid")
    }
    for added in ["&x=1", "&expires=9999999999", "&sig=0"] {
        require(!isValid(signed + added, signature), "a target with another parameter is valid")
    }
    checkQuery(signed)
    return 0
}

private func items(_ target: String) -> QueryItems? {
    try? QueryItems(target[target.prefix { $0 != "?" }.endIndex...].dropFirst())
}

private func isValid(_ target: String, _ signature: URLSignature) -> Bool {
    guard let items = items(target) else { return false }
    do throws(HTTPError) {
        try signature.check(path: target.prefix { $0 != "?" }, items, now: now)
        return true
    } catch {
        return false
    }
}

private func isExpired(_ target: String) -> Bool {
    guard let expiry = items(target)?[URLSignature.expiry] else { return false }
    return !(Int(expiry).map { expiry.utf8.first != UInt8(ascii: "+") && Double($0) > 1e9 } ?? false)
}

/// The parameters of a thumbnail are the same when they are written in their canonical form.
private func checkQuery(_ signed: String) {
    guard let items = items(signed), let again = try? QueryItems(items.canonical(without: URLSignature.name)),
        let query = try? ThumbnailQuery(items, accept: "image/webp", maximumSide: 4096)
    else { return }
    let other = try? ThumbnailQuery(again, accept: "image/webp", maximumSide: 4096)
    require(other?.key == query.key, "the canonical form has other parameters")
    require(["http", "https"].contains(query.source.scheme) && !query.source.host.isEmpty, "a source has no host")
}

private func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    guard !condition else { return }
    fatalError(message())
}
