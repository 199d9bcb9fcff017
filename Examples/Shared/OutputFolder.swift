import AlcedoLibc
public import FoundationEssentials

/// Where results go.
public struct OutputFolder: Sendable {
    /// As it was named.
    let folder: String
    /// Whether a file that has the name of a result goes. One of ``inputs`` stays in any case.
    var replaces: Bool
    /// Files that are never overwritten, by whatever name.
    var inputs: Set<FileIdentity>

    public init(_ folder: String, replaces: Bool, sparing inputs: Set<FileIdentity>) {
        self.folder = folder
        self.replaces = replaces
        self.inputs = inputs
    }

    /// The folder that a path lies in, and the name there.
    public static func split(_ path: String) -> (folder: String, name: String) {
        let folder = PathParts.folder(of: path)
        return (folder.isEmpty ? "." : folder, PathParts.name(of: path))
    }

    public func path(of name: String) -> String {
        folder == "." ? name : folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// To be called before work begins whose results have these names: makes the folder. Asks the system for each name;
    /// blocks.
    ///
    /// - Throws: When some are there already, and where nothing can be written.
    public func prepare(for names: some Sequence<String>) throws(OutputError) {
        if let refusal = refusal(of: names) { throw refusal }
        let shown = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw OutputError(description: "cannot write \(shown): \(error.localizedReason)")
        }
        if access(folder, W_OK | X_OK) != 0 { throw OutputError(path: shown, number: errno) }
    }

    /// Why the names are not to be had; nil when nothing is in the way.
    private func refusal(of names: some Sequence<String>) -> OutputError? {
        var taken: (first: String, others: Int)?
        for name in names {
            let path = path(of: name)
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR { return OutputError(path: path, number: EISDIR) }
            // With force the others are made, and this one is a problem when its turn comes.
            if replaces { continue }
            if let file = FileIdentity(path: path), inputs.contains(file) { return Self.isInput(path) }
            taken = (taken?.first ?? path, (taken?.others ?? -1) + 1)
        }
        guard let (first, others) = taken else { return nil }
        let text =
            others == 0
            ? "\(first) is there already; --force replaces it"
            : "\(first) and \(others) more are there already; --force replaces them"
        return OutputError(description: text)
    }

    /// Begins a file. Throws also where one of the inputs, or what is no file, would be replaced.
    public func file(named name: String) throws(OutputError) -> OutputFile {
        let path = path(of: name)
        if let file = FileIdentity(path: path), inputs.contains(file) { throw Self.isInput(path) }
        var status = stat()
        if lstat(path, &status) == 0, ![S_IFREG, S_IFLNK, S_IFDIR].contains(status.st_mode & S_IFMT) {
            throw OutputError(description: "cannot write \(path): not a regular file")
        }
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw OutputError(description: "cannot write \(path): \(error.localizedReason)")
        }
        return try OutputFile(path: path, replaces: replaces)
    }

    /// Writes a file as a whole, and returns its path. Blocks.
    @discardableResult
    public func write(_ data: Data, named name: String) throws(OutputError) -> String {
        let file = try file(named: name)
        try file.append(data)
        try file.finish()
        return path(of: name)
    }

    private static func isInput(_ path: String) -> OutputError {
        OutputError(description: "\(path) is one of the images, and stays as it is")
    }
}
