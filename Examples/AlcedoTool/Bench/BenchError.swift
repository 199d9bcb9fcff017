/// A benchmark that could not be run as it says.
struct BenchError: Error, CustomStringConvertible {
    let description: String
}
