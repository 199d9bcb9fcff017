import AlcedoLibc

/// Patterns of file names, as the shell has them.
enum FilePattern {
    /// The paths that match, in the order of their names; nil when the text has nothing of a pattern in it.
    static func paths(matching text: String) -> [String]? {
        guard text.contains(where: { "*?[".contains($0) }) else { return nil }
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(text, 0, nil, &found) == 0 else { return [] }
        return (0..<Int(found.gl_pathc)).compactMap { index in
            found.gl_pathv[index].map { String(cString: $0) }
        }
    }
}
