// swift-tools-version: 6.2
import PackageDescription

// A separate package: its programs use the fuzzer's main function, which a plain build does not link. Scripts/fuzz
// builds and runs them.

func product(_ name: String) -> Target.Dependency { .product(name: "Alcedo\(name)", package: "Alcedo") }

/// The formats with a package trait of the same name.
let traits = ["AVIF", "HEIF", "JXL", "SVG"]

let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "Alcedo", path: "../..", traits: Set(traits.map { .init(name: $0) }))],
    targets: [
        .target(
            name: "FuzzSupport", dependencies: [product("Core"), product("Testing"), product("URLResponseCache")],
            path: "Support")
    ]
        + (["PNG", "JPEG", "GIF", "WebP"] + traits).map { format in
            .executableTarget(
                name: "fuzz-\(format.lowercased())",
                dependencies: [product("Core"), "FuzzSupport", product(format)], path: format,
                exclude: traits.contains(format) ? ["Seeds"] : [])
        }
        + [
            .executableTarget(
                name: "fuzz-bmp", dependencies: [product("Core"), "FuzzSupport", product("BMP"), product("PNG")],
                path: "BMP", exclude: ["Seeds"])
        ]
        + ["Fields", "Entries"].map { part in
            .executableTarget(
                name: "fuzz-\(part.lowercased())", dependencies: ["FuzzSupport"], path: part, exclude: ["Seeds"])
        }
        + [.executableTarget(name: "fuzz-icc", dependencies: [product("")], path: "ICC", exclude: ["Seeds"])]
)
