/// Makes names of which no two are alike: an equal one gets a number.
public struct UniqueNames {
    private var taken: Set<String> = []
    /// The number to try next, of names that came more than once: without it each would try all again.
    private var numbers: [String: Int] = [:]

    public init() {}

    /// `dunes`, `dunes-2`, `dunes-3` …
    public mutating func unique(_ name: String) -> String {
        guard !taken.insert(name).inserted else { return name }
        var number = numbers[name] ?? 2
        while !taken.insert("\(name)-\(number)").inserted { number += 1 }
        numbers[name] = number + 1
        return "\(name)-\(number)"
    }
}
