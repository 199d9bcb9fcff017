// swift-tools-version: 6.2
import PackageDescription

// A separate package: its programs use the fuzzer's main function, which a plain build does not link. Scripts/fuzz
// builds and runs them.

func product(_ name: String) -> Target.Dependency { .product(name: "Alcedo\(name)", package: "Alcedo") }

/// The formats with a package trait of the same name.
let traits = ["AVIF", "HEIF", "JXL", "SVG", "TIFF"]
let formats = ["PNG", "JPEG", "GIF", "WebP"] + traits

let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "Alcedo", path: "../..", traits: Set(traits.map { .init(name: $0) }))],
    targets: [
        .target(
            name: "FuzzSupport", dependencies: [product("Core"), product("Testing"), product("URLResponseCache")],
            path: "Support"),
        // The parts of the server that read what clients send. They are no product, so their sources are linked here.
        // Without a package name of its own, a target gets that of Alcedo from Scripts/fuzz, and so its package access.
        .target(
            name: "FuzzServer", dependencies: [product(""), product("HTTP")], path: "Server",
            sources: [
                "HTTP/HTTPError.swift", "HTTP/RequestHead.swift", "HTTP/ServerResponse.swift", "Access",
                "Thumbnails/Thumbnail.swift", "Thumbnails/ThumbnailQuery.swift",
            ],
            packageAccess: false),
    ]
        + formats.map { format in
            .executableTarget(
                name: "fuzz-\(format.lowercased())",
                dependencies: [product("Core"), "FuzzSupport", product(format)], path: format,
                exclude: ["Seeds"])
        }
        + [
            .executableTarget(
                name: "fuzz-bmp", dependencies: [product("Core"), "FuzzSupport", product("BMP"), product("PNG")],
                path: "BMP", exclude: ["Seeds"]),
            .executableTarget(
                name: "fuzz-containers", dependencies: [product("Core"), product("BMP")] + formats.map(product),
                path: "Containers", packageAccess: false),
        ]
        + ["Fields", "Entries"].map { part in
            .executableTarget(
                name: "fuzz-\(part.lowercased())", dependencies: ["FuzzSupport"], path: part, exclude: ["Seeds"])
        }
        + [
            .executableTarget(
                name: "fuzz-icc", dependencies: [product("")], path: "ICC", exclude: ["Seeds"], packageAccess: false),
            .executableTarget(
                name: "fuzz-metadata", dependencies: [product("Core")], path: "Metadata", exclude: ["Seeds"],
                packageAccess: false),
        ]
        + ["Heads", "Signatures"].map { part in
            .executableTarget(
                name: "fuzz-\(part.lowercased())", dependencies: [product(""), "FuzzServer"], path: part,
                exclude: ["Seeds"], packageAccess: false)
        }
        + [
            .executableTarget(
                name: "fuzz-stored",
                dependencies: [product(""), product("DiskCache"), product("RedisCache"), "FuzzServer"],
                path: "Stored", exclude: ["Seeds"], packageAccess: false)
        ]
)
