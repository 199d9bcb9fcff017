import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// What the servers of a storm have, and what goes wrong with it. Both are made of numbers, the same in every run.
enum StormContent {
    /// How an answer goes.
    enum Fate: CaseIterable {
        case whole, chunked, breaking, resetting, busy, missing, redirect, silent, stalling, rejected
    }

    static let pathCount = 300

    private static let bodies = (0..<pathCount).map { sample(1 + $0 * 7_919 % 20_000, seed: UInt64($0)) }

    static func body(of number: Int) -> Data { bodies[number % pathCount] }

    static func tag(of number: Int) -> String { "\"\(number)\"" }

    /// - Parameter attempt: Of this number, from 1.
    static func fate(of number: Int, attempt: Int) -> Fate {
        let mixed = (UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(attempt) &* 0xBF58_476D_1CE4_E5B9) >> 40
        // A third of all answers are good, some numbers never are.
        if number % 23 == 0 { return .missing }
        if mixed % 4 == 0 { return .whole }
        return Fate.allCases[Int(mixed / 4) % Fate.allCases.count]
    }

    /// The number that a path names, such as `/7`.
    static func number(_ path: String) -> Int { Int(path.drop { $0 == "/" }) ?? 0 }

    /// The head's fields, the status and the bytes that answer a request, which may be for the rest.
    static func response(_ number: Int, range: String?) -> (status: Int, fields: HTTPFields, body: Data) {
        let body = body(of: number)
        var fields: HTTPFields = ["ETag": tag(of: number)]
        guard let start = range.flatMap({ Int($0.drop { !$0.isNumber }.prefix { $0.isNumber }) }), start < body.count
        else { return (200, fields, body) }
        fields["Content-Range"] = "bytes \(start)-\(body.count - 1)/\(body.count)"
        return (206, fields, Data(body[start...]))
    }
}
