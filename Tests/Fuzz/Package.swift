// swift-tools-version: 6.2
import PackageDescription

// A package of its own: its programs take the fuzzer's main function, which a plain build does not link. Scripts/fuzz
// builds and runs them.

let core = Target.Dependency.product(name: "AlcedoCore", package: "Alcedo")

let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "Alcedo", path: "../..")],
    targets: [.target(name: "FuzzSupport", dependencies: [core], path: "Support")]
        + ["PNG", "JPEG", "GIF", "WebP"].map { format in
            .executableTarget(
                name: "fuzz-\(format.lowercased())",
                dependencies: [core, "FuzzSupport", .product(name: "Alcedo\(format)", package: "Alcedo")],
                path: format)
        }
)
