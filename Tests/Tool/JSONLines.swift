import Foundation
import Testing

/// The output for scripts.
enum JSONLines {
    /// The objects, one of each line.
    static func objects(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }
}
