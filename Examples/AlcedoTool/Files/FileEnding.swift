import ExampleSupport

/// Names that end as those of image files do, of formats that are not written here too.
enum FileEnding {
    private static let images: Set = [
        "apng", "avif", "bmp", "dng", "eps", "exr", "gif", "heic", "heif", "ico", "j2k", "jfif", "jp2", "jpe", "jpeg",
        "jpg", "jxl", "pam", "pbm", "pcx", "pdf", "pgm", "png", "pnm", "ppm", "psd", "qoi", "rgba", "svg", "tga", "tif",
        "tiff", "webp", "xcf",
    ]

    static func isImage(_ path: String) -> Bool {
        let name = PathParts.name(of: path)
        return name.lastIndex(of: ".").map { images.contains(name[name.index(after: $0)...].lowercased()) } ?? false
    }
}
