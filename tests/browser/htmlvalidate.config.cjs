// The rules of html-validate for the pages that pollmatrix writes: the recommended ones.
module.exports = {
  root: true,
  extends: ["html-validate:recommended"],
  rules: {
    // Ids have dots, and may begin with a digit: `rows/2.7.html` has the id `2.7`. HTML allows every id without spaces.
    "valid-id": ["error", { relaxed: true }],
  },
};
