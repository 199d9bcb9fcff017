import AlcedoCore
import AlcedoHTTP
import FoundationEssentials

/// The contents and faults of a storm's servers. Both depend on numbers only and are the same in every run.
enum StormContent {
    /// The kind of a response.
    enum Fate: CaseIterable {
        case whole, chunked, breaking, resetting, busy, missing, redirect, silent, stalling, rejected
    }

    static let pathCount = 300

    private static let bodies = (0..<pathCount).map { sample(1 + $0 * 7_919 % 20_000, seed: UInt64($0)) }

    static func body(of number: Int) -> Data { bodies[number % pathCount] }

    static func tag(of number: Int) -> String { "\"\(number)\"" }

    /// - Parameter attempt: The attempt for this number, from 1.
    static func fate(of number: Int, attempt: Int) -> Fate {
        let mixed = (UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(attempt) &* 0xBF58_476D_1CE4_E5B9) >> 40
        // A third of all responses succeed, and some numbers never do.
        if number % 23 == 0 { return .missing }
        if mixed % 4 == 0 { return .whole }
        return Fate.allCases[Int(mixed / 4) % Fate.allCases.count]
    }

    /// Returns the number in a path such as `/7`.
    static func number(_ path: String) -> Int { Int(path.drop { $0 == "/" }) ?? 0 }

    /// Returns status, fields and bytes of the response to a request, which may be for the rest.
    static func response(_ number: Int, range: String?) -> (status: Int, fields: HTTPFields, body: Data) {
        let body = body(of: number)
        var fields: HTTPFields = ["ETag": tag(of: number)]
        guard let start = range.flatMap({ Int($0.drop { !$0.isNumber }.prefix { $0.isNumber }) }), start < body.count
        else { return (200, fields, body) }
        fields["Content-Range"] = "bytes \(start)-\(body.count - 1)/\(body.count)"
        return (206, fields, Data(body[start...]))
    }
}
