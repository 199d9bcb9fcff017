import FoundationEssentials

/// The images that an argument names: itself, or those in the folder that it is.
enum ImageFiles {
    private static let endings = [".png", ".apng", ".jpg", ".jpeg", ".gif", ".webp"]

    /// The argument, or the paths of the files in the folder that are called as images are, by name; folders in it are left
    /// out.
    static func expanding(_ argument: String) -> [String] {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: argument, isDirectory: &isFolder), isFolder,
            let names = try? FileManager.default.contentsOfDirectory(atPath: argument)
        else { return [argument] }
        let folder = argument.hasSuffix("/") ? argument : argument + "/"
        return names.filter { name in endings.contains { name.lowercased().hasSuffix($0) } }.sorted().map {
            folder + $0
        }
    }
}
